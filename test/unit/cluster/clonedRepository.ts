import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from '../../harness/temp.ts';
import { kubeconfigText } from './kubeconfigs.ts';

/** A repository whose settings have the profile `prod`, which signs in with the repository's program `run.sh`. */
export class ClonedRepository {
  readonly root = tempFolder('repository-');
  /** A working folder below that of the settings. */
  readonly folder = join(this.root, 'src', 'deep');
  readonly settings = join(this.root, '.vscode', 'settings.json');
  readonly kubeconfig: string;
  readonly program = join(this.root, 'run.sh');
  readonly #marker = join(this.root, 'ran');

  constructor(kubeconfig = join(this.root, 'kc.yaml')) {
    this.kubeconfig = kubeconfig;
    mkdirSync(this.folder, { recursive: true });
    mkdirSync(join(this.root, '.vscode'));
    this.writeProgram();
    this.writeKubeconfig();
    this.writeSettings({ kubeconfig, rayCluster: 'team', namespace: 'geneva' });
  }

  writeSettings(profile: object): void {
    writeFileSync(this.settings, JSON.stringify({ 'lanceCatalog.cluster.profiles': { prod: profile } }));
  }

  writeKubeconfig(exec: object = {}): void {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const plugin = { apiVersion, command: this.program, args: ['token'], interactiveMode: 'Never', ...exec };
    writeFileSync(this.kubeconfig, kubeconfigText({ user: { exec: plugin } }));
  }

  /** @param more a line without effect */
  writeProgram(more = ''): void {
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 't' },
    };
    const lines = ['#!/bin/sh', `touch '${this.#marker}'`, `echo '${JSON.stringify(credential)}'`, more];
    writeFileSync(this.program, `${lines.join('\n')}\n`);
    chmodSync(this.program, 0o755);
  }

  /** Returns whether the program ran since the last call. */
  takeRan(): boolean {
    const ran = existsSync(this.#marker);
    rmSync(this.#marker, { force: true });
    return ran;
  }
}
