// Passkey: a public key whose private part a phone, computer or security key keeps for one user (WebAuthn).
import type { EpochMs } from './instant.ts';

/** A user has few devices; more would make the list of allowed ones long. */
export const passkeysPerUserMax = 20;

export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** As the browser names it, in base64url. */
  readonly credentialId: string;
  /** COSE, in base64url. */
  readonly publicKey: string;
  /** How often the device has signed; 0 for devices that do not count. */
  readonly counter: number;
  /** What the user calls it. */
  readonly name: string;
  /** How browsers reach the device, such as `internal` or `usb`. */
  readonly transports: readonly string[];
  /** When the last challenge that counted was issued; older ones are refused. */
  readonly lastChallenge: EpochMs;
  readonly created: EpochMs;
  readonly lastUsed: EpochMs | null;
}
