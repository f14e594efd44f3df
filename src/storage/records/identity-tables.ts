// Tables of how users prove who they are: sessions, second factors, mailed links and people of a provider.
import type { SignInKind } from '../../model/user.ts';

export interface IdentityTables {
  sessions: {
    id: string;
    tokenHash: string;
    userId: string;
    organizationId: string;
    created: number;
    lastSeen: number;
    expiresAt: number;
    signInKind: SignInKind;
    userAgent: string | null;
    ip: string | null;
    providerSession: string | null;
    idToken: string | null;
  };
  passwordResets: { tokenHash: string; userId: string; created: number; expiresAt: number };
  invitations: {
    id: string;
    tokenHash: string;
    mailedTokenHash: string | null;
    organizationId: string;
    userId: string;
    created: number;
    expiresAt: number;
  };
  authenticatorApps: {
    userId: string;
    sealedSecret: string;
    /** Null until the first code was right. */
    confirmed: number | null;
    /** The interval of 30 s of the last accepted code; codes of it and of earlier ones are used up. */
    lastStep: number;
    created: number;
  };
  passkeys: {
    id: string;
    userId: string;
    credentialId: string;
    publicKey: string;
    counter: number;
    name: string;
    /** A list in JSON. */
    transports: string;
    lastChallenge: number;
    created: number;
    lastUsed: number | null;
  };
  /** Users who still have the password that was generated for them. */
  firstPasswords: { userId: string };
  /** Organizations whose members must have a second factor. */
  secondFactorDemands: { organizationId: string };
  recoveryCodes: { userId: string; codeHash: string };
  userIdentities: { issuer: string; subject: string; userId: string; created: number };
}
