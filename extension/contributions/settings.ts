import { profileSchema } from '#cluster/profiles/profileSchema.ts';
import type { SettingId, SettingTypes } from '../manifest.ts';

type Schema = Readonly<Record<string, unknown>>;

type Setting<T> = {
  readonly type: 'array' | 'object' | 'string' | 'number';
  readonly default: T;
  /** The settings files that may set the value. VS Code does not read `machine` settings from a workspace. */
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

/** The settings in the order of the settings editor. Each one names a program or a path, or changes how cells run. */
export const settings: { readonly [K in SettingId]: Setting<SettingTypes[K]> } = {
  'lanceCatalog.defaultConnections': {
    type: 'array',
    default: [],
    scope: 'window',
    markdownDescription:
      'Catalogs to list in addition to the connections that you add, such as catalogs that a team shares in its workspace settings. Set `root` for a directory, `uri` for a server, or `implementation` and `properties`, which are passed to `connectNamespace`. In `root`, `~` is the home directory and `${workspaceFolder}` is the first folder of the window. Relative paths start at that folder. Do not put API keys here: run “Update API Key…” on the connection, which saves the key in secret storage.',
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
              description:
                'rest: host and port to connect to instead of those in the URL, such as a private endpoint or a tunnel.',
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
              properties: {
                connect: { type: 'number' },
                headers: { type: 'number' },
                body: { type: 'number' },
                json: { type: 'number' },
              },
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
      "Profiles of Kubernetes clusters that backfills can run on, by name. Check a cluster with “Verify Cluster Identity” or, in a notebook, with `cluster.check('name')`. Do not put credentials here: they are read from the kubeconfig and the configuration of your cloud's tools.",
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
    description: 'What to do with type errors in a cell. After a change, restart the kernels of open notebooks.',
  },
  'lanceCatalog.notebook.keepKernelSeconds': {
    type: 'number',
    minimum: 0,
    maximum: 86400,
    default: 60,
    scope: 'machine-overridable',
    markdownDescription:
      'Seconds that a kernel waits for its window after a reload, or for its closed notebook to be opened again. Meanwhile the kernel continues to run its cell. `0` ends the kernel when the window or the notebook closes.',
  },
  'lanceCatalog.notebook.printedCharacters': {
    type: 'number',
    minimum: 0,
    default: 1000000,
    scope: 'resource',
    markdownDescription:
      'Maximum number of printed characters that stay in the notebook after a cell finishes. Longer output keeps its start and its end. A running cell shows all of its output. `0` keeps everything.',
  },
  'lanceCatalog.sql.maxResultGigabytes': {
    type: 'number',
    minimum: 0.1,
    default: 10,
    scope: 'machine-overridable',
    markdownDescription:
      'Maximum disk space, in gigabytes, for the results of SQL files in a window. A query that reaches it stops and keeps the rows that it has. The space is free again when the result is closed.',
  },
  'lanceCatalog.timeZone': {
    type: 'string',
    enum: ['utc', 'column', 'local'],
    enumDescriptions: ['UTC.', 'The time zone of the column.', 'The time zone of this machine.'],
    default: 'column',
    scope: 'window',
    description:
      'The time zone in which the table panel and notebook outputs show timestamps that have a time zone. Timestamps without one are shown unchanged.',
  },
  'lanceCatalog.nodePath': {
    type: 'string',
    default: '',
    scope: 'machine',
    markdownDescription:
      'Path of the Node.js (22.19 or newer) that runs the engine and the kernels. Default: a supported `node` on PATH, otherwise the one in VS Code.',
  },
};
