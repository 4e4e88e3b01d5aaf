/** Where an API server is, and what its certificate is held against. */
export type KubeTarget = {
  /** Its address without a slash at the end; it may have a path, as behind a gateway. */
  readonly server: string;
  /** Certificates of the authority that signed the server's, PEM; those that Node trusts where none are said. */
  readonly ca?: string | undefined;
  /** The name that the certificate must have, where it is not that of the address. */
  readonly tlsServerName?: string | undefined;
  /** Whether any certificate will do (`insecure-skip-tls-verify`). */
  readonly skipTlsVerify: boolean;
  /** `http://`, `https://` or `socks5://` of the kubeconfig; that of the environment where none is said. */
  readonly proxyUrl?: string | undefined;
};
