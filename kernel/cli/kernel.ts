import { UsageError, type Command } from './command.ts';
import { catalogHelp } from './catalogHelp.ts';
import { install } from './kernelInstall.ts';
import { list } from './kernelList.ts';
import { remove } from './kernelRemove.ts';
import { runKernel } from './kernelRun.ts';
import { languageHelp } from './languageArgument.ts';
import { typeCheckHelp } from './typeCheckArgument.ts';

const summary = `  lance-catalog kernel install [--user | --sys-prefix | --prefix DIR] [--name NAME] [--display-name TEXT]
                               [--catalog DIR | --catalog ADDRESS] [--type-check MODE] [--language LANGUAGE]
      makes the kernel "TypeScript (Lance Catalog)" known to Jupyter
  lance-catalog kernel list
      says which of its kernels Jupyter finds, what they run, and which do not work
  lance-catalog kernel remove NAME [--user | --sys-prefix | --prefix DIR]
      makes one unknown again
  lance-catalog kernel run --connection-file FILE [--catalog DIR | --catalog ADDRESS] [--type-check MODE]
                           [--language LANGUAGE]
      runs a kernel for a Jupyter front`;

export const kernelCommand: Command = {
  summary,
  help: `The TypeScript kernel for notebooks

${summary}

  --user              for you, in every Jupyter of yours; what is done when nothing is said
  --sys-prefix        for the Python environment that is active
  --prefix DIR        below another folder, such as /usr/local
  --name NAME         Jupyter's own name of the kernel, "lance-typescript" when nothing is said; another one for another
                      catalog. With "tslab" or "jslab" it runs notebooks of those kernels where they are not installed
  --display-name TEXT   what people choose it by
${typeCheckHelp}
${languageHelp}
${catalogHelp}

What lets one in to a catalog is never written down: the kernel has the environment of its Jupyter.`,
  run: ([word, ...rest]) => {
    switch (word) {
      case 'install':
        return install(rest);
      case 'list':
        return list(rest);
      case 'remove':
        return remove(rest);
      case 'run':
        return runKernel(rest);
      case undefined:
        throw new UsageError('Say "kernel install", "kernel list", "kernel remove" or "kernel run".');
      default:
        throw new UsageError(`There is no command "kernel ${word}".`);
    }
  },
};
