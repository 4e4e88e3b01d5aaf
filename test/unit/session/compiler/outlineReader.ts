// `outlineReader.ts FOLDER RECORDS CELL` compiles a cell with the outlines of a folder and prints the results as JSON.
// Each test needs a separate process, because a process reads each file only once.
import { createCellConverter } from '#session/compile/cellConverter.ts';
import { prelude } from '#session/compile/prelude.ts';
import { useOutlines } from '#session/compiler/installedFiles.ts';
import { trackNodeComments } from '#session/compiler/lazyComments.ts';
import { OutlinedFiles, OutlineRecords } from '#session/compiler/outlinedFiles.ts';
import { told } from '../compile/told.ts';

export type Seen = {
  /** Number of package files in the notebook's folder. */
  files: number;
  /** The files that were neither read nor parsed when the cell was converted. */
  late: string[];
  problems: string[];
  told: [name: string, text: string][];
};

const [folder = '', records = '', cell = ''] = process.argv.slice(2);
trackNodeComments();
const outlined = new OutlinedFiles(new OutlineRecords(records));
useOutlines(outlined);
const converter = createCellConverter({ folder });
const { problems } = converter.convert(prelude, cell);
const service = converter.service(prelude, cell);
const files = service.program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(`${folder}/node_modules/`));
const late = files.filter((file) => 'get' in (Object.getOwnPropertyDescriptor(file, 'text') ?? {}));
const seen: Seen = {
  files: files.length,
  late: late.map(({ fileName }) => fileName.slice(`${folder}/node_modules/`.length)).toSorted(),
  problems: problems.map(({ message }) => message),
  told: [...told(service)],
};
outlined.keep();
process.stdout.write(JSON.stringify(seen));
