// Replaces Node modules that TypeScript uses optionally: a process that has these from a snapshot aborts when a worker
// thread loads them.
throw new Error('This module of Node is not there while a start-up snapshot is made.');
