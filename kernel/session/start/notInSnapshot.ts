// Replaces Node modules that TypeScript uses optionally, because a process that has these modules from a snapshot
// aborts when a worker thread loads them.
throw new Error('This Node module is not available while a start-up snapshot is built.');
