// Token paths: addresses of the token service and its documents (interface 4.10).

export const tokenPaths = {
  realm: '/realms/api-keys',
  token: '/realms/api-keys/protocol/openid-connect/token',
  keys: '/realms/api-keys/protocol/openid-connect/certs',
  discovery: '/realms/api-keys/.well-known/openid-configuration',
} as const;
