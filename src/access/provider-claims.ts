// Provider claims: the person in the claims of a provider, with its groups.
import { emailAddressOf } from '../model/email-address.ts';
import type { ProvenPerson, SignInProvider } from '../model/sign-in-provider.ts';

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string; readonly iss: string };

const claimLimits = { groupsMax: 5_000, lengthMax: 500 } as const;
const emailForm = /^[^\s@]+@[^\s@]+$/;
const emailLengthMax = 254;

/** `info`: what the provider says of the same subject besides, with more claims. */
export function personOf(
  { groupsClaim, trustsEmail }: Pick<SignInProvider, 'groupsClaim' | 'trustsEmail'>,
  token: Claims,
  info: Readonly<Record<string, unknown>>,
): ProvenPerson {
  const { sub: subject, iss: issuer } = token;
  const claims = { ...token, ...info };
  const withEmail = [token, info].filter((said) => said['email'] !== undefined);
  const verified = withEmail.find((said) => said['email_verified'] === true);
  const trusted = trustsEmail ? withEmail[0] : undefined;
  return {
    issuer,
    subject,
    email: emailOf(verified ?? trusted ?? {}),
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']),
    groups: groupsOf(claimAt(claims, groupsClaim)),
  };
}

/**
 * An address counts only when the provider says that it is verified, in the same token: another
 * one can have another address. Or the operator says so for the provider.
 */
function emailOf(said: Readonly<Record<string, unknown>>): string | undefined {
  const { email: claim } = said;
  if (typeof claim !== 'string' || claim.length > emailLengthMax) return undefined;
  const email = emailAddressOf(claim);
  return emailForm.test(email) ? email : undefined;
}

/** By its whole name, which may be a URL with dots, else by its path. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
      return undefined;
    found = (found as Readonly<Record<string, unknown>>)[part];
  }
  return found;
}

function groupsOf(claim: unknown): readonly string[] {
  const texts = [claim].flat().map(textOf);
  return texts.filter((text) => text !== undefined).slice(0, claimLimits.groupsMax);
}

function textOf(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || claim === '') return undefined;
  return claim.slice(0, claimLimits.lengthMax);
}
