// Provider claims: the person in the claims of a provider, with its groups.
import type { ProvenPerson, SignInProvider } from '../model/sign-in-provider.ts';

type Claims = Readonly<Record<string, unknown>> & { readonly sub: string; readonly iss: string };

const claimLimits = { groupsMax: 5_000, lengthMax: 500 } as const;
const emailForm = /^[^\s@]+@[^\s@]+$/;
const emailLengthMax = 254;

/** An address counts only when the provider, or the operator for it, says that it is verified. */
export function personOf(
  { groupsClaim, trustsEmail }: Pick<SignInProvider, 'groupsClaim' | 'trustsEmail'>,
  claims: Claims,
): ProvenPerson {
  const { sub: subject, iss: issuer } = claims;
  const email = textOf(claims['email'])?.trim().toLowerCase();
  const isVerified = trustsEmail || claims['email_verified'] === true;
  const isEmail = email !== undefined && email.length <= emailLengthMax && emailForm.test(email);
  return {
    issuer,
    subject,
    email: isVerified && isEmail ? email : undefined,
    name: textOf(claims['name']) ?? textOf(claims['preferred_username']),
    groups: groupsOf(claimAt(claims, groupsClaim)),
  };
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
