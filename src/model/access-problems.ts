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
  permissionDenied: { status: 403, code: '40300_PERMISSION_DENIED', message: 'Permission denied' },
} as const satisfies Record<string, ProblemRow>;
