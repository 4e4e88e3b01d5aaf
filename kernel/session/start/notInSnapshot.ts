// Stands in the snapshot's bundle for modules of Node that TypeScript would like to have and can do without: a process
// that has them from a snapshot aborts when a worker thread loads them.
throw new Error('This module of Node is not there while a start-up snapshot is made.');
