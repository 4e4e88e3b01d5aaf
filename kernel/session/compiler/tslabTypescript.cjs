// tslab depends on its own fork of TypeScript 5.0. It gets mainline TypeScript 6.0 instead: only `isCompleteCode` of
// its converter is used, which calls nothing that the fork adds.
module.exports = require('typescript-6');
