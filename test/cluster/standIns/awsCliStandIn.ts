import assert from 'node:assert/strict';
import type { Fix } from '#cluster/fixes/fix.ts';
import type { KubeObject } from '../parts/kubeApi.ts';
import type { SoundAws } from '../parts/soundAws.ts';

type Options = Readonly<Record<string, string>>;

/**
 * Stands in for a user at a terminal with the AWS command line. Executes the exact text of a fix, and fails for an
 * unknown command, option or file. The changes are made in moto, the stand-in of EKS, and the API server.
 */
export async function doMend(sound: SoundAws, mend: Fix): Promise<void> {
  if (mend.kind === 'objects') return sound.kube.api.apply(...(mend.objects as unknown as KubeObject[]));
  assert.ok(
    mend.kind === 'command' || mend.kind === 'document',
    `Nobody can do this by a command: ${JSON.stringify(mend)}`,
  );
  const { words, options } = readCommand(mend.command);
  const document = mend.kind === 'document' ? { title: mend.title, text: mend.text } : undefined;
  const fileOf = (option: string): string => {
    const file = options[option]?.replace('file://', '') ?? '';
    assert.ok(document !== undefined && document.title.startsWith(`${file}:`), `The document is not "${file}".`);
    return document.text;
  };
  const { moto, eks } = sound;
  const role = options['role-name'] ?? '';
  const verb = words.join(' ');
  switch (verb) {
    case 'aws iam put-role-policy': {
      // Drop the resource, because moto checks EKS's actions without a resource.
      const { Statement: statements } = JSON.parse(fileOf('policy-document')) as {
        Statement: Record<string, unknown>[];
      };
      const [statement = {}] = statements;
      const isEks = JSON.stringify(statement['Action']).includes('eks:');
      return moto.permit(role, options['policy-name'] ?? '', isEks ? { ...statement, Resource: '*' } : statement);
    }
    case 'aws iam update-assume-role-policy':
      return moto.setTrustText(role, fileOf('policy-document'));
    case 'aws iam create-open-id-connect-provider':
      return moto.provider(options['url'] ?? '', options['client-id-list'] ?? '');
    case 'aws iam add-client-id-to-open-id-connect-provider': {
      // moto does not have this call, so replace the provider by a provider with the new audience.
      await moto.removeProvider(options['open-id-connect-provider-arn'] ?? '');
      return moto.provider(sound.kube.address, options['client-id'] ?? '');
    }
    case 'aws eks update-cluster-config': {
      assert.equal(options['name'], 'geneva');
      eks.facts.authenticationMode = options['access-config']?.replace('authenticationMode=', '') ?? '';
      return undefined;
    }
    case 'aws eks create-access-entry': {
      const entry = { type: options['type'] ?? '', kubernetesGroups: [], policies: [] };
      eks.entries.set(options['principal-arn'] ?? '', entry);
      return undefined;
    }
    case 'aws eks associate-access-policy': {
      const scope = options['access-scope']?.replace('type=', '') ?? '';
      const policy = { policyArn: options['policy-arn'] ?? '', scope, namespaces: [] };
      eks.entries.get(options['principal-arn'] ?? '')?.policies.push(policy);
      return undefined;
    }
    default:
      if (words[1] === 's3' && words[2] === 'mb')
        return moto.bucket(words[3]?.replace('s3://', '') ?? '', options['region']);
      throw new Error(`Nobody knows the command "${mend.command}".`);
  }
}

/** Returns the words of a command and its options. Each option has a value. */
function readCommand(command: string): { words: readonly string[]; options: Options } {
  const parts = command.match(/'[^']*'|\S+/g)?.map((part) => part.replaceAll("'", '')) ?? [];
  const first = parts.findIndex((part) => part.startsWith('--'));
  const options: Record<string, string> = {};
  const rest = first < 0 ? [] : parts.slice(first);
  for (let index = 0; index < rest.length; index += 2) {
    const [option = '', value] = rest.slice(index, index + 2);
    assert.ok(option.startsWith('--') && value !== undefined, `"${command}" has an option without a value.`);
    options[option.slice(2)] = value;
  }
  return { words: first < 0 ? parts : parts.slice(0, first), options };
}
