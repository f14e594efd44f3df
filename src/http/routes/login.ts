// Routes of signing in with a password: one step, or two for a user with a second factor (contract 35).
import { readAccount } from '../../access/caller.ts';
import { newChallenge, relyingPartyOf, signatureOptions } from '../../access/passkey-proof.ts';
import {
  checkSecondFactor,
  openTicket,
  sealTicket,
  type SecondFactorKind,
  secondFactorsOf,
  userOfFirstStep,
} from '../../access/second-factor.ts';
import { csrfTokenOf, sessionTokenOf } from '../../access/session-authenticator.ts';
import type { Attempts } from '../../access/sign-in-throttle.ts';
import { authenticateUser, startSession } from '../../access/sign-in.ts';
import { signIn } from '../../contract/sign-in.ts';
import { auditAction } from '../../inventory/audit/audit.ts';
import type { Inventory } from '../../inventory/record-crud.ts';
import { emailAddressOf } from '../../model/email-address.ts';
import { formatInstant } from '../../model/instant.ts';
import { problem } from '../../model/problem.ts';
import type { SignInKind, User } from '../../model/user.ts';
import { Answer, type Route, route, type RouteInput } from '../edge/route.ts';
import { sessionCookies } from '../edge/session-cookies.ts';

export interface LoginParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly attempts: Attempts;
  /** Stricter than those of passwords, because codes are short. */
  readonly codeAttempts: Attempts;
  /** Whether the platform is reached by https, so that cookies travel by nothing else. */
  readonly secure: boolean;
  /** Whether passwords count. */
  readonly localSignIn: boolean;
  readonly publicUrl: () => string;
}

type Input = RouteInput<unknown, unknown, unknown>;

export function loginRoutes(parts: LoginParts): Route[] {
  return [passwordRoute(parts), secondStepRoute(parts)];
}

function passwordRoute(parts: LoginParts): Route {
  const { records, attempts, localSignIn } = parts;
  return route(signIn.login, async (input) => {
    if (!localSignIn) throw problem('localSignInOff');
    const { body, ip } = input;
    const { email, password, organizationId } = body;
    const account = emailAddressOf(email);
    const work = () => authenticateUser(records, email, password);
    const user = await attempts.run({ ip, account }, work, (found) => found === undefined);
    if (user === undefined) throw problem('wrongPassword');
    const secondFactors = await secondFactorsOf(records.db, user.id);
    if (secondFactors.length === 0) return signedIn(parts, input, { user, organizationId });
    const second = await secondStepOf(parts, user, {
      organizationId: organizationId ?? null,
      secondFactors,
    });
    // `otherAnswers` describes it.
    return new Answer(202, second as never);
  });
}

/** What the client needs for the second step. */
async function secondStepOf(
  { records, now, publicUrl }: LoginParts,
  { id: userId, version }: User,
  {
    organizationId,
    secondFactors,
  }: {
    readonly organizationId: string | null;
    readonly secondFactors: readonly SecondFactorKind[];
  },
) {
  const challenge = newChallenge();
  const content = { userId, version, organizationId, challenge };
  const { ticket, expiresAt } = sealTicket(records.sealer, 'secondFactor', content, now());
  const party = relyingPartyOf(publicUrl());
  const answer = { ticket, expires: formatInstant(expiresAt), secondFactors };
  if (party === undefined || !secondFactors.includes('PASSKEY'))
    return { ...answer, passkeyOptions: null };
  const asked = { challenge, party };
  return { ...answer, passkeyOptions: await signatureOptions(records.db, asked, userId) };
}

function secondStepRoute(parts: LoginParts): Route {
  const { records, now, codeAttempts, localSignIn, publicUrl } = parts;
  return route(signIn.secondStep, async (input) => {
    if (!localSignIn) throw problem('localSignInOff');
    const { body, ip } = input;
    const first = openTicket(records.sealer, 'secondFactor', body.ticket, now());
    if (first === undefined) throw problem('ticketExpired');
    const { userId: account, organizationId } = first;
    const user = await userOfFirstStep(records.db, first);
    const shown = { now: now(), party: relyingPartyOf(publicUrl()) };
    const work = () => checkSecondFactor(records, first, body, shown);
    const kind = await codeAttempts.run({ ip, account }, work, (found) => found === undefined);
    if (kind === undefined) throw problem('wrongCode');
    return signedIn(parts, input, { user, organizationId, secondFactor: kind });
  });
}

/** Starts the session, logs the sign-in and answers with the cookies. */
export async function signedIn(
  { records, now, secure }: LoginParts,
  { headers, ip, requestId }: Input,
  {
    user,
    organizationId: wanted,
    secondFactor,
    signInKind = 'PASSWORD',
  }: {
    readonly user: User;
    readonly signInKind?: SignInKind;
    readonly organizationId: string | null | undefined;
    readonly secondFactor?: SecondFactorKind;
  },
) {
  const { sessionToken, session } = await startSession(records, user, {
    now: now(),
    signInKind,
    organizationId: wanted,
    from: { ip, userAgent: headers['user-agent'] },
    replaced: sessionTokenOf(headers.cookie, secure),
  });
  const { organizationId } = session;
  const actor = { type: 'USER', id: user.id, name: user.name, requestId, ip } as const;
  const shown = secondFactor && { changes: [{ field: 'secondFactor', after: secondFactor }] };
  await auditAction(records, actor, { organizationId, action: 'LOGIN', user, ...shown });
  const seen = await readAccount(records.db, { id: user.id, organizationId });
  const answer = { ...seen, csrfToken: csrfTokenOf(sessionToken) };
  return new Answer(200, answer, { 'set-cookie': sessionCookies(sessionToken, secure) });
}
