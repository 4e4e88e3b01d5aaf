// VS Code's TypeScript loads this package from the extension's node_modules/ and expects a function. The bundle is in
// dist/. The relative path is the same for the package in node_modules/ and for its source in extension/.
module.exports = require('../../dist/typescriptPlugin.cjs').init;
