// Under Node the engine requires the CommonJS build of apache-arrow. A second build in the same process would not
// recognize the tables of the CommonJS build and would serialize them to garbage without an error, so all code imports
// Arrow through this file.
module.exports = require('apache-arrow');

require('./arrowSchema.cjs').quickenSchema(module.exports);
