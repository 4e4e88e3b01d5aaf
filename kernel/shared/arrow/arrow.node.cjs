// Under Node the engine requires the CommonJS build of apache-arrow. A second build in the same process does not know
// the first one's tables and serialises them to garbage without an error, so everyone comes in through this door.
module.exports = require('apache-arrow');

require('./arrowSchema.cjs').quickenSchema(module.exports);
