// tslab depends on its own fork of TypeScript 5.0. This file gives tslab the original TypeScript 6.0 instead. That
// works because only `isCompleteCode` of tslab's converter is used, and it calls nothing that the fork adds.
module.exports = require('typescript-6');
