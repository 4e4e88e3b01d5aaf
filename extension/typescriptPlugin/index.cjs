// The editor's TypeScript looks for its plugins in node_modules of the extension, and wants a function. The code is in
// dist/ with the other bundles, two folders up from here as from there.
module.exports = require('../../dist/typescriptPlugin.cjs').init;
