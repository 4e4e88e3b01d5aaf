import { profileSchema } from '#cluster/profiles/profileSchema.ts';
import type { SettingId, SettingTypes } from '../manifest.ts';

type Schema = Readonly<Record<string, unknown>>;

type Setting<T> = {
  readonly type: 'array' | 'object' | 'string' | 'number';
  readonly default: T;
  /** Where users may set it: `machine` settings are not read from a workspace. */
  readonly scope: 'window' | 'resource' | 'machine' | 'machine-overridable';
  readonly description?: string;
  readonly markdownDescription?: string;
  readonly enum?: readonly T[];
  readonly enumDescriptions?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
};

/** The settings in the order of the settings editor. Each names a program or a path, or shapes what cells do. */
export const settings: { readonly [K in SettingId]: Setting<SettingTypes[K]> } = {
  'lanceCatalog.defaultConnections': {
    type: 'array',
    default: [],
    scope: 'window',
    markdownDescription:
      'Catalogs that are listed without being added, for instance those a team shares in its workspace settings: a directory by its `root`, a server by its `uri`, or either by `implementation` and `properties` as `connectNamespace` takes them. In `root`, `~` stands for the home directory, and `${workspaceFolder}` for the first folder of the window, where relative paths start, too. API keys do not belong here: “Update API Key…” on the connection keeps yours in the secret storage of the editor.',
    items: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      oneOf: [{ required: ['root'] }, { required: ['uri'] }, { required: ['implementation', 'properties'] }],
      properties: {
        name: { type: 'string', description: 'How the catalog is listed.' },
        implementation: {
          enum: ['dir', 'rest'],
          enumDescriptions: [
            'A directory or an object store.',
            'A server that speaks the Lance Namespace REST specification.',
          ],
          description: 'How `connectNamespace` opens the catalog.',
        },
        properties: {
          type: 'object',
          markdownDescription:
            'What `connectNamespace` takes for the implementation: `root` and `storageOptions`, or `uri`, `database`, `databasePrefix`, `headers` and others. No `apiKey`, no `token` and no other secret.',
          additionalProperties: false,
          properties: {
            root: {
              type: 'string',
              description: 'dir: the directory, or the address in an object store, that holds the tables.',
            },
            storageOptions: {
              type: 'object',
              description: 'dir: settings of the object store, without secrets.',
              additionalProperties: { type: 'string' },
            },
            uri: { type: 'string', description: 'rest: the address of the catalog server.' },
            database: { type: 'string', description: 'rest: the database on that server, where it has several.' },
            databasePrefix: { type: 'string', description: 'rest: a folder of the database.' },
            headerNames: {
              type: 'object',
              description: 'rest: other names of the headers of database and databasePrefix.',
              additionalProperties: false,
              properties: { database: { type: 'string' }, databasePrefix: { type: 'string' } },
            },
            headers: {
              type: 'object',
              description: 'rest: headers to send with every request, without secrets.',
              additionalProperties: { type: 'string' },
            },
            endpoint: {
              type: 'string',
              description: 'rest: where to connect instead, such as a private endpoint or a tunnel.',
            },
            ca: {
              type: 'string',
              description: "rest: certificates of the authority that signed the server's, as PEM text.",
            },
            proxy: { type: 'string', description: 'rest: the address of a proxy.' },
            delimiter: { type: 'string', description: 'rest: the delimiter between the parts of an identifier ($).' },
            timeouts: {
              type: 'object',
              description: 'rest: milliseconds to wait; 0 for no limit.',
              additionalProperties: false,
              properties: { connect: { type: 'number' }, headers: { type: 'number' }, body: { type: 'number' } },
            },
            retries: { type: 'integer', description: 'rest: how often to repeat a request that only reads (3).' },
          },
          patternProperties: {
            '^headers\\..': {
              type: 'string',
              description: 'rest: the value of the header that the rest of the name says.',
            },
          },
        },
        root: { type: 'string', description: 'The directory that holds the tables.' },
        uri: {
          type: 'string',
          description: 'The address of the catalog server.',
          pattern: '^https?://',
          patternErrorMessage: 'Write an address such as https://catalog.example.com.',
        },
        database: { type: 'string', description: 'The database on that server, where it has several.' },
      },
    },
  },
  'lanceCatalog.cluster.profiles': {
    type: 'object',
    default: {},
    scope: 'window',
    markdownDescription:
      "Kubernetes clusters that backfills run on, by a name of yours. Checked by “Verify Cluster Identity”, and by notebooks as `cluster.check('name')`. Credentials come from where the tools of the cluster's cloud have them; none belongs here.",
    additionalProperties: profileSchema,
  },
  'lanceCatalog.notebook.typeCheck': {
    type: 'string',
    enum: ['error', 'warn', 'off'],
    enumDescriptions: [
      'A cell with a type error does not run.',
      'Type errors are printed and the cell runs.',
      'Cells are not checked when they run.',
    ],
    default: 'error',
    scope: 'resource',
    description: 'What a type error in a cell does. Holds for kernels that are started from then on.',
  },
  'lanceCatalog.notebook.keepKernelSeconds': {
    type: 'number',
    minimum: 0,
    maximum: 86400,
    default: 60,
    scope: 'machine-overridable',
    markdownDescription:
      'How long the kernel of a notebook waits, in seconds, for a window that reloads. It goes on with its cell meanwhile, and ends when nobody comes back. `0`: it ends with the window.',
  },
  'lanceCatalog.notebook.printedCharacters': {
    type: 'number',
    minimum: 0,
    default: 1000000,
    scope: 'resource',
    markdownDescription:
      'How many characters of what a cell prints stay in the notebook when the cell has ended; of more, the beginning and the end stay. While a cell runs all of it is shown. `0`: everything stays.',
  },
  'lanceCatalog.nodePath': {
    type: 'string',
    default: '',
    scope: 'machine',
    markdownDescription:
      "The Node (22.19 or newer) that runs the engine and the notebook kernel. When empty: a fit `node` on the PATH, else the editor's own.",
  },
};
