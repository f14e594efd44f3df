// Passkeys of the browser: what the platform asks, in the form of the browser, and the other way round (WebAuthn).
import type { components } from '../../generated/interface-types.ts';

type Schemas = components['schemas'];

/** Whether the browser has passkeys; on pages without https it hides them. */
export function hasPasskeys(): boolean {
  return typeof globalThis.PublicKeyCredential === 'function';
}

/** Undefined when the user closed the question of the browser. Throws what else went wrong. */
export async function newCredential(
  options: Schemas['PasskeyCreation']['options'],
): Promise<Schemas['PasskeyCredential'] | undefined> {
  // The interface names the members that matter here; the platform sends all of the standard.
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return answered<Schemas['PasskeyCredential']>(() => navigator.credentials.create({ publicKey }));
}

/** Undefined when the user closed the question of the browser. Throws what else went wrong. */
export async function signedChallenge(
  options: Schemas['PasskeyRequest']['options'],
): Promise<Schemas['PasskeySignature'] | undefined> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return answered<Schemas['PasskeySignature']>(() => navigator.credentials.get({ publicKey }));
}

async function answered<T>(question: () => Promise<Credential | null>): Promise<T | undefined> {
  try {
    const credential = await question();
    if (credential === null) return undefined;
    return (credential as PublicKeyCredential).toJSON() as T;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotAllowedError') return undefined;
    throw error;
  }
}
