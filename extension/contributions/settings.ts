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
      'Catalogs to list in addition to those you add, such as catalogs that a team shares in its workspace settings. Give a directory by `root`, a server by `uri`, or either by `implementation` and `properties` as `connectNamespace` takes them. In `root`, `~` is the home directory and `${workspaceFolder}` the first folder of the window; relative paths start there. Do not put API keys here: run “Update API Key…” on the connection to store yours in secret storage.',
    items: {
      type: 'object',
      required: ['name'],
      additionalProperties: false,
      oneOf: [{ required: ['root'] }, { required: ['uri'] }, { required: ['implementation', 'properties'] }],
      properties: {
        name: { type: 'string', description: 'Name in the catalog view.' },
        implementation: {
          enum: ['dir', 'rest'],
          enumDescriptions: [
            'A directory or an object store.',
            'A server that speaks the Lance Namespace REST specification.',
          ],
          description: 'Implementation that opens the catalog.',
        },
        properties: {
          type: 'object',
          markdownDescription:
            'Properties for `connectNamespace`: `root` and `storageOptions`, or `uri`, `database`, `databasePrefix`, `headers` and others. Do not add `apiKey`, `token` or other secrets.',
          additionalProperties: false,
          properties: {
            root: {
              type: 'string',
              description: 'dir: the directory or object store URL that holds the tables.',
            },
            storageOptions: {
              type: 'object',
              description: 'dir: settings of the object store, without secrets.',
              additionalProperties: { type: 'string' },
            },
            uri: { type: 'string', description: 'rest: URL of the catalog server.' },
            database: { type: 'string', description: 'rest: database on the server.' },
            databasePrefix: { type: 'string', description: 'rest: a folder of the database.' },
            headerNames: {
              type: 'object',
              description: 'rest: header names to use for database and databasePrefix.',
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
              description: 'rest: host and port to connect to instead, such as a private endpoint or a tunnel.',
            },
            ca: {
              type: 'string',
              description: 'rest: certificates of the certificate authority, in PEM format.',
            },
            proxy: { type: 'string', description: 'rest: URL of a proxy.' },
            delimiter: {
              type: 'string',
              description: 'rest: delimiter between the parts of an identifier (default: $).',
            },
            timeouts: {
              type: 'object',
              description: 'rest: timeouts in milliseconds; 0 for no timeout.',
              additionalProperties: false,
              properties: { connect: { type: 'number' }, headers: { type: 'number' }, body: { type: 'number' } },
            },
            retries: {
              type: 'integer',
              description: 'rest: number of retries of requests that only read (default: 3).',
            },
          },
          patternProperties: {
            '^headers\\..': {
              type: 'string',
              description: 'rest: value of the header whose name follows "headers.".',
            },
          },
        },
        root: { type: 'string', description: 'Directory that holds the tables.' },
        uri: {
          type: 'string',
          description: 'URL of the catalog server.',
          pattern: '^https?://',
          patternErrorMessage: 'Must be a URL such as https://catalog.example.com.',
        },
        database: { type: 'string', description: 'Database on the server.' },
      },
    },
  },
  'lanceCatalog.cluster.profiles': {
    type: 'object',
    default: {},
    scope: 'window',
    markdownDescription:
      "Kubernetes clusters that backfills can run on, by profile name. Check one with “Verify Cluster Identity” or, in a notebook, with `cluster.check('name')`. Credentials are read from the tools of the cloud; do not put them here.",
    additionalProperties: profileSchema,
  },
  'lanceCatalog.notebook.typeCheck': {
    type: 'string',
    enum: ['error', 'warn', 'off'],
    enumDescriptions: [
      'Do not run a cell that has type errors.',
      'Print the type errors and run the cell.',
      'Do not check types.',
    ],
    default: 'error',
    scope: 'resource',
    description: 'What to do with type errors in a cell. Applies to kernels started later.',
  },
  'lanceCatalog.notebook.keepKernelSeconds': {
    type: 'number',
    minimum: 0,
    maximum: 86400,
    default: 60,
    scope: 'machine-overridable',
    markdownDescription:
      'Seconds that a kernel waits for its window to come back after a reload. It continues to run its cell meanwhile. `0` ends the kernel with the window.',
  },
  'lanceCatalog.notebook.printedCharacters': {
    type: 'number',
    minimum: 0,
    default: 1000000,
    scope: 'resource',
    markdownDescription:
      'Number of printed characters that stay in the notebook after a cell finishes; of longer output, the beginning and the end stay. A running cell shows all of its output. `0` keeps everything.',
  },
  'lanceCatalog.nodePath': {
    type: 'string',
    default: '',
    scope: 'machine',
    markdownDescription:
      'Path of the Node.js (22.19 or newer) that runs the engine and the kernels. Default: a supported `node` on PATH, otherwise the one in VS Code.',
  },
};
