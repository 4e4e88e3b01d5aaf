/** Base addresses of the interfaces of Google Cloud that are asked, without a slash at the end. */
export type GoogleEndpoints = {
  readonly oauth2: string;
  readonly container: string;
  readonly iam: string;
  readonly iamcredentials: string;
  readonly sts: string;
  readonly storage: string;
};

export type GoogleApi = keyof GoogleEndpoints;

export const googleEndpoints: GoogleEndpoints = {
  oauth2: 'https://oauth2.googleapis.com',
  container: 'https://container.googleapis.com',
  iam: 'https://iam.googleapis.com',
  iamcredentials: 'https://iamcredentials.googleapis.com',
  sts: 'https://sts.googleapis.com',
  storage: 'https://storage.googleapis.com',
};

/** The scope in which all of it is asked; what the holder may do is up to IAM. */
export const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';
