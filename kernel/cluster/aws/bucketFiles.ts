import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { definedEntries } from '#shared/records.ts';
import { isClusterError } from '#cluster/errors.ts';
import { awsCall } from './awsErrors.ts';
import { awsTransport } from './awsTransport.ts';
import type { BucketSettings } from './bucketSettings.ts';

/** Milliseconds. There is no limit for a whole request: files may be large and connections slow. */
const limits = { connectionTimeout: 5_000, socketTimeout: 30_000 };

/** Small files in a bucket, by key. Owns its connections, which `close()` ends. */
export class BucketFiles {
  readonly #client: S3Client;
  readonly #settings: BucketSettings;

  constructor(settings: BucketSettings) {
    const { region, endpoint, isPathStyle, keys } = settings;
    this.#settings = settings;
    this.#client = new S3Client({
      // Without a known region, any region works, because S3 redirects to the bucket's region.
      region: region ?? 'us-east-1',
      followRegionRedirects: true,
      forcePathStyle: isPathStyle,
      maxAttempts: 4,
      requestHandler: awsTransport(process.env, limits),
      // Checksums are sent only if required, because other stores with an S3 API refuse checksums that they do not
      // know.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...definedEntries({ endpoint }),
      ...(keys && {
        credentials: {
          accessKeyId: keys.id,
          secretAccessKey: keys.secret,
          ...definedEntries({ sessionToken: keys.token }),
        },
      }),
    });
  }

  /** Returns the `s3://` URI of a key, for display. */
  uri(key: string): string {
    return `s3://${this.#settings.bucket}/${key}`;
  }

  /** Reads a file, or returns `undefined` if it does not exist. @throws ClusterError */
  async get(key: string, signal?: AbortSignal): Promise<Uint8Array | undefined> {
    try {
      return await this.#ask('s3:GetObject', key, async () => {
        const { Body: body } = await this.#client.send(new GetObjectCommand(this.#object(key)), aborting(signal));
        return body?.transformToByteArray();
      });
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Writes a file, whole or not at all. @throws ClusterError */
  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#put(key, bytes, {});
  }

  /** Writes a file if it does not exist. @returns whether it wrote the file @throws ClusterError */
  async create(key: string, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#put(key, bytes, { IfNoneMatch: '*' });
      return true;
    } catch (error) {
      if (!isClusterError(error)) throw error;
      // The status 409 means that another client is writing the file.
      if (error.status === 412 || error.status === 409) return false;
      // The status 501 means that the store does not support conditional writes. Several clients may then create the
      // file at the same time, so the clients must check later which of them wrote last.
      if (error.status !== 501) throw error;
      if ((await this.get(key)) !== undefined) return false;
      await this.put(key, bytes);
      return true;
    }
  }

  /** Lists the names of the files directly in a folder. @throws ClusterError */
  async list(folder: string, signal?: AbortSignal): Promise<string[]> {
    const { bucket: Bucket } = this.#settings;
    const names: string[] = [];
    let token: string | undefined;
    do {
      const asked = { Bucket, Prefix: `${folder}/`, Delimiter: '/', ...definedEntries({ ContinuationToken: token }) };
      const reply = await this.#ask('s3:ListBucket', folder, () =>
        this.#client.send(new ListObjectsV2Command(asked), aborting(signal)),
      );
      // Skip the object for the folder itself, which some libraries create.
      for (const { Key: key } of reply.Contents ?? [])
        if (key !== undefined && !key.endsWith('/')) names.push(key.slice(folder.length + 1));
      token = reply.IsTruncated === true ? reply.NextContinuationToken : undefined;
    } while (token !== undefined);
    return names;
  }

  /** Removes a file, if it exists. @throws ClusterError */
  async remove(key: string): Promise<void> {
    try {
      await this.#ask('s3:DeleteObject', key, () => this.#client.send(new DeleteObjectCommand(this.#object(key))));
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }

  close(): void {
    this.#client.destroy();
  }

  async #put(key: string, bytes: Uint8Array, condition: { readonly IfNoneMatch?: '*' }): Promise<void> {
    const { encryption } = this.#settings;
    const asked = {
      ...this.#object(key),
      ...condition,
      Body: bytes,
      ...(encryption && { ServerSideEncryption: encryption.kind, ...definedEntries({ SSEKMSKeyId: encryption.key }) }),
    };
    await this.#ask('s3:PutObject', key, () => this.#client.send(new PutObjectCommand(asked)));
  }

  #object(key: string) {
    return { Bucket: this.#settings.bucket, Key: key };
  }

  #ask<T>(action: string, key: string, call: () => Promise<T>): Promise<T> {
    const as = this.#settings.keys === undefined ? 'you' : 'this connection';
    return awsCall({ action, thing: this.uri(key), as }, call);
  }
}

const aborting = (abortSignal: AbortSignal | undefined) => (abortSignal ? { abortSignal } : {});

/** Returns whether the file is missing. A missing bucket is another error. */
const isMissing = (error: unknown): boolean =>
  isClusterError(error) &&
  error.status === 404 &&
  !(error.cause instanceof Error && error.cause.name === 'NoSuchBucket');
