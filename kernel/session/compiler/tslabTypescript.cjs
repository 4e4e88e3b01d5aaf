// tslab is written against its own fork of TypeScript 5.0. It gets mainline TypeScript 6.0 in its place: of tslab's
// converter only `isCompleteCode` is used, which calls nothing that the fork adds.
module.exports = require('typescript-6');
