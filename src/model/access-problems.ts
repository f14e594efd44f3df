// Problems of authentication and permissions: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const accessProblems = {
  invalidPermissions: {
    status: 400,
    code: '40060_INVALID_PERMISSIONS',
    message: (d: { scope: string; verb: string; valid: string }) =>
      `Cannot grant ${d.verb} on ${d.scope}. Valid permissions: ${d.valid}.`,
  },
  passwordTooWeak: {
    status: 400,
    code: '40061_PASSWORD_TOO_WEAK',
    message: (d: { reason: string }) => `The password is too easy to guess: ${d.reason}`,
  },
  wrongPassword: {
    status: 401,
    code: '40160_WRONG_PASSWORD',
    message: 'Incorrect email or password',
  },
  wrongCode: {
    status: 401,
    code: '40161_WRONG_CODE',
    message:
      "The code is incorrect or has already been used. Wait for the next code, and check that your phone's clock is correct.",
  },
  ticketExpired: {
    status: 401,
    code: '40162_TICKET_EXPIRED',
    message: 'The sign-in has expired. Start again with your password.',
  },
  passkeyRefused: {
    status: 401,
    code: '40163_PASSKEY_REFUSED',
    message: (d: { reason: string }) => `The passkey was rejected: ${d.reason}`,
  },
  passkeysOff: {
    status: 403,
    code: '40386_PASSKEYS_OFF',
    message: (d: { publicUrl: string }) =>
      `Passkeys require HTTPS and a host name, but PUBLIC_URL is ${d.publicUrl}`,
  },
  passkeyExists: {
    status: 409,
    code: '40987_PASSKEY_EXISTS',
    message: 'This passkey is already registered',
  },
  tooManyPasskeys: {
    status: 409,
    code: '40988_TOO_MANY_PASSKEYS',
    message: (d: { max: number }) => `You have ${d.max} passkeys, the maximum. Remove one first.`,
  },
  csrfTokenMissing: {
    status: 403,
    code: '40360_CSRF_TOKEN_MISSING',
    message: 'The x-csrf-token header is missing or does not match the csrf cookie',
  },
  roleTooHigh: {
    status: 403,
    code: '40361_ROLE_TOO_HIGH',
    message: (d: { role: string }) =>
      `You cannot grant or revoke the ${d.role} role because it has permissions that you do not have`,
  },
  noOrganization: {
    status: 403,
    code: '40362_NO_ORGANIZATION',
    message: 'You do not belong to an organization',
  },
  invitationTooHigh: {
    status: 403,
    code: '40363_INVITATION_TOO_HIGH',
    message:
      'This person has a pending invitation that grants more permissions than you have. Wait until it is accepted, or ask a member with those permissions.',
  },
  addressNotProven: {
    status: 403,
    code: '40365_ADDRESS_NOT_PROVEN',
    message:
      'Verify your email address before creating an organization. Reset your password by email, or ask the operator.',
  },
  grantTooHigh: {
    status: 403,
    code: '40364_GRANT_TOO_HIGH',
    message: 'You cannot grant permissions or workspaces that you do not have yourself',
  },
  alreadyMember: {
    status: 409,
    code: '40960_ALREADY_MEMBER',
    message: (d: { email: string }) => `${d.email} is already a member. Change the role instead.`,
  },
  lastOwner: {
    status: 409,
    code: '40961_LAST_OWNER',
    message: 'An organization needs at least one owner. Make another member an owner first.',
  },
  rateLimited: {
    status: 429,
    code: '42900_RATE_LIMITED',
    message: (d: { retryAfterSeconds: number }) =>
      `Rate limit exceeded. Try again in ${d.retryAfterSeconds} s.`,
  },
  tooManyAttempts: {
    status: 429,
    code: '42901_TOO_MANY_ATTEMPTS',
    message: (d: { retryAfterSeconds: number }) =>
      `Too many failed attempts. Try again in ${d.retryAfterSeconds} s.`,
  },
  formExpected: {
    status: 415,
    code: '41501_FORM_EXPECTED',
    message: 'Unsupported content type. Send application/x-www-form-urlencoded.',
  },
  unauthorized: { status: 401, code: '40100_UNAUTHORIZED', message: 'Unauthorized' },
  twoCredentials: {
    status: 401,
    code: '40101_TWO_CREDENTIALS',
    message: 'Two authentication headers received',
  },
  invalidToken: { status: 401, code: '40102_INVALID_TOKEN', message: 'invalid token' },
  localSignInOff: {
    status: 403,
    code: '40366_LOCAL_SIGN_IN_OFF',
    message: 'Password sign-in is turned off. Sign in with your identity provider.',
  },
  invitationsOff: {
    status: 403,
    code: '40389_INVITATIONS_OFF',
    message:
      'Invitations are turned off because this installation has no passwords. Assign the role to a group at the identity provider.',
  },
  providerOnly: {
    status: 403,
    code: '40367_PROVIDER_ONLY',
    message:
      'This account has no password because it signs in with the identity provider. Assign the role to one of its groups instead.',
  },
  noEntry: {
    status: 403,
    code: '40368_NO_ENTRY',
    message: 'None of your groups grants access. Ask the operator of this installation.',
  },
  emailNotVerified: {
    status: 403,
    code: '40369_EMAIL_NOT_VERIFIED',
    message: 'The identity provider did not return a verified email address',
  },
  emailTaken: {
    status: 403,
    code: '40374_EMAIL_TAKEN',
    message: 'Another identity at the provider already uses your email address',
  },
  signInExpired: {
    status: 400,
    code: '40062_SIGN_IN_EXPIRED',
    message: 'The sign-in expired or was started in another browser. Start again.',
  },
  secondFactorExists: {
    status: 409,
    code: '40985_SECOND_FACTOR_EXISTS',
    message: 'An authenticator app is already set up. Remove it first.',
  },
  noSecondFactor: {
    status: 409,
    code: '40986_NO_SECOND_FACTOR',
    message: (d: { what: string }) => `No ${d.what} is set up. Set it up first.`,
  },
  secondFactorRequired: {
    status: 403,
    code: '40393_SECOND_FACTOR_REQUIRED',
    message:
      'This organization requires MFA. Set it up at /me/security in the console or with POST /v3/auth/second-factor/app, then continue in this session.',
  },
  ownSecondFactorMissing: {
    status: 409,
    code: '40992_OWN_SECOND_FACTOR_MISSING',
    message: 'You would lock yourself out. Set up MFA for your own account first.',
  },
  secondFactorDemanded: {
    status: 409,
    code: '40993_SECOND_FACTOR_DEMANDED',
    message:
      'This is your last second factor, and one of your organizations requires MFA. Set up another one first.',
  },
  ownSecondFactorReset: {
    status: 403,
    code: '40394_OWN_SECOND_FACTOR_RESET',
    message:
      'You cannot reset your own MFA here. Remove it in your account settings with your password.',
  },
  memberElsewhere: {
    status: 403,
    code: '40395_MEMBER_ELSEWHERE',
    message:
      "You cannot reset this member's MFA because they also belong to organizations that you do not administer. Ask someone who is an owner or administrator in all of them.",
  },
  noPassword: {
    status: 403,
    code: '40385_NO_PASSWORD',
    message: 'This account signs in only with the identity provider, which manages MFA itself',
  },
  apiKeyExpired: {
    status: 401,
    code: '40105_API_KEY_EXPIRED',
    message: (d: { expired: string }) => `The API key expired at ${d.expired}. Create a new key.`,
  },
  authenticateAgain: {
    status: 403,
    code: '40399_AUTHENTICATE_AGAIN',
    message: 'Send your `password`, or sign in again: this session began more than 10 minutes ago',
  },
  assistantCredential: {
    status: 401,
    code: '40107_ASSISTANT_CREDENTIAL',
    message:
      'Send an API key in the header x-api-key, or an access token: this one is missing or not valid, and there is no sign-in for assistants',
  },
  permissionDenied: { status: 403, code: '40300_PERMISSION_DENIED', message: 'Permission denied' },
  assistantSession: {
    status: 403,
    code: '40391_ASSISTANT_SESSION',
    message: 'The MCP server accepts API keys and access tokens, not user sessions',
  },
  foreignOrigin: {
    status: 403,
    code: '40392_FOREIGN_ORIGIN',
    message: (d: { origin: string }) =>
      `Origin ${d.origin} is not allowed. The operator can allow it with CORS_ORIGINS.`,
  },
} as const satisfies Record<string, ProblemRow>;
