// Problems of authentication and permissions: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const accessProblems = {
  invalidPermissions: {
    status: 400,
    code: '40060_INVALID_PERMISSIONS',
    message: (d: { scope: string; verb: string; valid: string }) =>
      `${d.scope} ${d.verb} cannot be granted; valid are ${d.valid}`,
  },
  passwordTooWeak: {
    status: 400,
    code: '40061_PASSWORD_TOO_WEAK',
    message: (d: { reason: string }) => `The password is too easily guessed: ${d.reason}`,
  },
  wrongPassword: {
    status: 401,
    code: '40160_WRONG_PASSWORD',
    message: 'Wrong e-mail address or password',
  },
  wrongCode: {
    status: 401,
    code: '40161_WRONG_CODE',
    message:
      'The code is wrong, or it was used already: wait for the next one, and check the clock of the phone',
  },
  ticketExpired: {
    status: 401,
    code: '40162_TICKET_EXPIRED',
    message: 'The first step of the sign-in is too long ago: begin again with the password',
  },
  passkeyRefused: {
    status: 401,
    code: '40163_PASSKEY_REFUSED',
    message: (d: { reason: string }) => `The passkey is refused: ${d.reason}`,
  },
  passkeysOff: {
    status: 403,
    code: '40386_PASSKEYS_OFF',
    message: (d: { publicUrl: string }) =>
      `Passkeys need https and a host name, and this installation is reached at ${d.publicUrl}`,
  },
  passkeyExists: {
    status: 409,
    code: '40987_PASSKEY_EXISTS',
    message: 'The passkey is known already',
  },
  tooManyPasskeys: {
    status: 409,
    code: '40988_TOO_MANY_PASSKEYS',
    message: (d: { max: number }) => `There are ${d.max} passkeys already: remove one first`,
  },
  csrfTokenMissing: {
    status: 403,
    code: '40360_CSRF_TOKEN_MISSING',
    message: 'Header x-csrf-token must repeat the token of cookie csrf',
  },
  roleTooHigh: {
    status: 403,
    code: '40361_ROLE_TOO_HIGH',
    message: (d: { role: string }) =>
      `Role ${d.role} may do more than you: only those who may do as much can give or take it`,
  },
  noOrganization: {
    status: 403,
    code: '40362_NO_ORGANIZATION',
    message: 'You are a member of no organization',
  },
  invitationTooHigh: {
    status: 403,
    code: '40363_INVITATION_TOO_HIGH',
    message:
      'This person has an open invitation that grants more than you may: wait until it is accepted, or ask a member who may do as much',
  },
  addressNotProven: {
    status: 403,
    code: '40365_ADDRESS_NOT_PROVEN',
    message:
      'Only a user with a proven e-mail address makes organizations: reset the password by mail, or ask the owner of the installation',
  },
  grantTooHigh: {
    status: 403,
    code: '40364_GRANT_TOO_HIGH',
    message:
      'The credential may do more than you: leave out the permissions and workspaces that you do not have',
  },
  alreadyMember: {
    status: 409,
    code: '40960_ALREADY_MEMBER',
    message: (d: { email: string }) => `${d.email} is a member already; change the role instead`,
  },
  lastOwner: {
    status: 409,
    code: '40961_LAST_OWNER',
    message: 'An organization keeps at least one owner: make somebody else an owner first',
  },
  rateLimited: {
    status: 429,
    code: '42900_RATE_LIMITED',
    message: (d: { retryAfterSeconds: number }) =>
      `Too many requests; send again in ${d.retryAfterSeconds} s`,
  },
  tooManyAttempts: {
    status: 429,
    code: '42901_TOO_MANY_ATTEMPTS',
    message: (d: { retryAfterSeconds: number }) =>
      `Too many failed attempts; try again in ${d.retryAfterSeconds} s`,
  },
  formExpected: {
    status: 415,
    code: '41501_FORM_EXPECTED',
    message: 'Send the fields as application/x-www-form-urlencoded',
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
    message: 'This installation has no passwords: sign in with its provider',
  },
  invitationsOff: {
    status: 403,
    code: '40389_INVITATIONS_OFF',
    message:
      'This installation has no passwords, so that invitations cannot be accepted: give the role by a group of the provider',
  },
  providerOnly: {
    status: 403,
    code: '40367_PROVIDER_ONLY',
    message:
      'This account has no password, because it signs in with the provider: ask for the role by the groups of the provider',
  },
  noEntry: {
    status: 403,
    code: '40368_NO_ENTRY',
    message: 'None of your groups has a role here: ask the owner of the installation',
  },
  emailNotVerified: {
    status: 403,
    code: '40369_EMAIL_NOT_VERIFIED',
    message: 'The provider names no verified e-mail address of yours',
  },
  emailTaken: {
    status: 403,
    code: '40374_EMAIL_TAKEN',
    message: 'Another person of the provider has your e-mail address here',
  },
  signInExpired: {
    status: 400,
    code: '40062_SIGN_IN_EXPIRED',
    message: 'The sign-in took too long, or was begun in another browser: begin again',
  },
  secondFactorExists: {
    status: 409,
    code: '40985_SECOND_FACTOR_EXISTS',
    message: 'An authenticator app is set up already: remove it first',
  },
  noSecondFactor: {
    status: 409,
    code: '40986_NO_SECOND_FACTOR',
    message: (d: { what: string }) => `There is no ${d.what}: set it up first`,
  },
  secondFactorRequired: {
    status: 403,
    code: '40393_SECOND_FACTOR_REQUIRED',
    message:
      'The organization demands a second factor, which your account lacks: set one up on the page /me/security of the console, or with POST /v3/auth/second-factor/app, then continue in this session',
  },
  ownSecondFactorMissing: {
    status: 409,
    code: '40992_OWN_SECOND_FACTOR_MISSING',
    message: 'You would shut yourself out: set up a second factor of your own account first',
  },
  secondFactorDemanded: {
    status: 409,
    code: '40993_SECOND_FACTOR_DEMANDED',
    message:
      'An organization of yours demands a second factor, and this is the last one: set up another one first',
  },
  ownSecondFactorReset: {
    status: 403,
    code: '40394_OWN_SECOND_FACTOR_RESET',
    message: 'Remove second factors of your own account there, with your password',
  },
  memberElsewhere: {
    status: 403,
    code: '40395_MEMBER_ELSEWHERE',
    message:
      'The member also belongs to organizations where you cannot reset second factors: a member who is an owner or administrator in all of them can',
  },
  noPassword: {
    status: 403,
    code: '40385_NO_PASSWORD',
    message: 'This account signs in with the provider only, which asks for its own second factor',
  },
  apiKeyExpired: {
    status: 401,
    code: '40105_API_KEY_EXPIRED',
    message: (d: { expired: string }) =>
      `The API key expired at ${d.expired}: create a new one and use that`,
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
    message: 'Assistants need an API key or an access token; the session of a user is not accepted',
  },
  foreignOrigin: {
    status: 403,
    code: '40392_FOREIGN_ORIGIN',
    message: (d: { origin: string }) =>
      `Pages of ${d.origin} cannot use this server; the operator can allow them with CORS_ORIGINS`,
  },
} as const satisfies Record<string, ProblemRow>;
