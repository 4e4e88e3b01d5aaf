import assert from 'node:assert/strict';
import { errorOfConnection, errorOfReply, refusalOf } from '#cluster/gcp/googleErrors.ts';

const asked = 'GET https://container.googleapis.com/v1/projects/p';
const ofJson = (status: number, body: object) =>
  errorOfReply({ asked, status, contentType: 'application/json', text: JSON.stringify(body) });
const refusal = (status: number, reason: string, message: string) =>
  ofJson(status, { error: { code: status, message, status: 'X', details: [{ reason }] } });

suite('An answer of Google Cloud that is none of the 2xx', () => {
  test('is distinguished by its status, with Google’s message', () => {
    const kinds = [400, 401, 403, 404, 409, 429, 503].map((status) => refusal(status, 'X', 'Words.').kind);
    assert.deepEqual(kinds, [
      'InvalidRequest',
      'CredentialsRefused',
      'Forbidden',
      'NotFound',
      'Conflict',
      'Throttled',
      'Unavailable',
    ]);
    assert.equal(refusal(403, 'X', 'Words').what, `${asked} was refused: Words.`);
  });

  test('names the line that enables an interface', () => {
    const message =
      'Kubernetes Engine API has not been used in project my-project before or it is disabled. Enable it by visiting https://console.developers.google.com/apis/api/container.googleapis.com/overview?project=my-project then retry.';
    const error = refusal(403, 'SERVICE_DISABLED', message);
    assert.equal(error.kind, 'InvalidRequest');
    assert.equal(error.hint, 'Enable the API: gcloud services enable container.googleapis.com --project my-project.');
  });

  test('says how to name the project that pays', () => {
    const message = 'The container.googleapis.com API requires a quota project, which is not set by default.';
    assert.match(refusal(403, 'X', message).hint, /gcloud auth application-default set-quota-project PROJECT/);
  });

  test('tells a token that has expired from one that is refused', () => {
    assert.equal(refusal(401, 'ACCESS_TOKEN_EXPIRED', 'Expired.').kind, 'CredentialsExpired');
    assert.equal(refusal(401, 'CREDENTIALS_MISSING', 'Missing.').kind, 'CredentialsRefused');
  });

  test('is read in the shape of OAuth too', () => {
    const error = ofJson(400, { error: 'invalid_grant', error_description: 'ID Token is expired.' });
    assert.equal(refusalOf(error)?.reason, 'invalid_grant');
    assert.equal(error.what, `${asked} was refused: ID Token is expired.`);
  });

  test('in a web page is not Google’s', () => {
    const error = errorOfReply({ asked, status: 403, contentType: 'text/html', text: '<title>Sign in</title>' });
    assert.equal(error.kind, 'WrongServer');
    assert.match(error.what, /status 403 and a web page/);
  });
});

suite('A connection to Google Cloud that fails', () => {
  test('is distinguished by its code, in any position', () => {
    const kindOf = (code: string) => errorOfConnection(asked, { cause: { code } }).kind;
    assert.equal(kindOf('ECONNREFUSED'), 'Unreachable');
    assert.equal(kindOf('UND_ERR_HEADERS_TIMEOUT'), 'Timeout');
    assert.equal(kindOf('SELF_SIGNED_CERT_IN_CHAIN'), 'TlsUntrusted');
    const all = new AggregateError([Object.assign(new Error('x'), { code: 'ENETUNREACH' })]);
    assert.match(errorOfConnection(asked, all).what, /ENETUNREACH/);
  });
});
