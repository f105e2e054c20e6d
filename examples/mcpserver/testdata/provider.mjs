// An authorization server: oidc-provider from npm, with its own pages for logging in. It issues JWTs for any server.
// node provider.mjs MODULES PORT SECONDS, the lifetime of access tokens
import { pathToFileURL } from 'node:url';

const [modules, port, seconds] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
new Provider(`http://127.0.0.1:${port}`, {
  clientDefaults: { id_token_signed_response_alg: 'ES256' },
  jwks: { keys: [{ ...(await key()), use: 'sig', alg: 'ES256', kid: 'k1' }] },
  scopes: ['openid', 'offline_access'],
  features: {
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'tools', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: Number(seconds),
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));

async function key() {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const { kty, crv, x, y, d } = await crypto.subtle.exportKey('jwk', pair.privateKey);
  return { kty, crv, x, y, d };
}
