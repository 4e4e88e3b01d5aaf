import { toJsonSchema } from '#shared/fieldTable.ts';
import { profileFields } from './profileFields.ts';
import { otherSpellings } from './settingNames.ts';

/** JSON schema of one profile, a value of `lanceCatalog.cluster.profiles`. */
export const profileSchema = toJsonSchema(profileFields, otherSpellings);
