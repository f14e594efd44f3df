// API schemas of second factors: codes of an authenticator app, passkeys, and recovery codes.
import Type from 'typebox';
import { named, namedObject } from './named.ts';
import { id, list, oneOf, optional, orNull, text, time } from './record-fields.ts';

const ticketMax = 4_096;
const shown = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

/** By the standard, which adds members with time. */
const open = { additionalProperties: true } as const;
const base64Url = Type.String({ maxLength: 20_000 });
const credentialFields = { id: Type.String({ minLength: 1, maxLength: 2_000 }) };

/** What `navigator.credentials.get` returns, as JSON; other members are ignored. */
const assertion = named(
  'PasskeySignature',
  Type.Object(
    {
      ...credentialFields,
      response: Type.Object(
        {
          clientDataJSON: base64Url,
          authenticatorData: base64Url,
          signature: base64Url,
        },
        open,
      ),
    },
    open,
  ),
);

const attestation = named(
  'PasskeyCredential',
  Type.Object(
    {
      ...credentialFields,
      response: Type.Object(
        {
          clientDataJSON: base64Url,
          attestationObject: base64Url,
          transports: optional(Type.Array(Type.String({ maxLength: 50 }), { maxItems: 10 })),
        },
        open,
      ),
    },
    open,
  ),
);

const passkeySchema = namedObject('Passkey', {
  id,
  name: text,
  created: time,
  lastUsed: orNull(time),
});

export const secondFactorSchema = namedObject('SecondFactor', {
  available: Type.Boolean({
    description: 'False for an account without a password: its provider asks for a second factor',
  }),
  authenticatorApp: orNull(Type.Object({ created: time })),
  passkeys: list(passkeySchema),
  recoveryCodes: Type.Integer({ description: 'How many are not used yet' }),
});

const ticket = Type.String({ description: 'To send with the answer of the browser' });
const challenge = Type.String({ description: 'Base64url' });

/** For `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export const passkeyCreation = namedObject('PasskeyCreation', {
  ticket,
  options: Type.Object(
    {
      challenge,
      rp: Type.Object({ name: text }, open),
      user: Type.Object({ id, name: text, displayName: text }, open),
      pubKeyCredParams: Type.Array(Type.Object({ alg: Type.Integer(), type: text }, open)),
    },
    open,
  ),
});

/** For `PublicKeyCredential.parseRequestOptionsFromJSON`. */
const requestOptions = Type.Object({ challenge }, open);
export const passkeyRequest = namedObject('PasskeyRequest', { ticket, options: requestOptions });

const passkeyName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
export const passkeyDraft = namedObject('PasskeyDraft', {
  ticket: Type.String({ maxLength: ticketMax }),
  name: passkeyName,
  credential: attestation,
});
export const passkeyUpdate = namedObject('PasskeyUpdate', { name: passkeyName });
export const passkeyLogin = namedObject('PasskeyLogin', {
  ticket: Type.String({ maxLength: ticketMax }),
  passkey: assertion,
  organizationId: optional(id),
});

export const ownPassword = namedObject('OwnPassword', {
  password: Type.String({ minLength: 1, maxLength: 1_000, description: 'Proves who asks' }),
});

export const newAppSchema = namedObject('NewAuthenticatorApp', {
  secret: Type.String({ description: 'Base32, to type into an app; shown this once' }),
  address: Type.String({ description: 'The otpauth address, to show as a QR code' }),
});

export const appConfirmation = namedObject('AuthenticatorAppConfirmation', {
  code: shown('Six digits that the app shows'),
});

export const recoveryCodesSchema = namedObject('RecoveryCodes', {
  recoveryCodes: list(Type.String({ description: 'Replaces the second factor once' })),
});

/** Answer of the first step of a sign-in that needs a second one. */
export const secondStepSchema = namedObject('SecondStep', {
  ticket: Type.String({ description: 'Proves the first step; for five minutes' }),
  expires: time,
  secondFactors: list(oneOf(['ONE_TIME_CODE', 'PASSKEY', 'RECOVERY_CODE'])),
  passkeyOptions: orNull(requestOptions),
});

export const secondStepBody = namedObject('SecondStepBody', {
  ticket: Type.String({ maxLength: ticketMax }),
  code: optional(shown('Six digits of the authenticator app')),
  recoveryCode: optional(shown('In place of the code')),
  passkey: optional(assertion),
});

export const secondFactorDemandSchema = namedObject('SecondFactorDemand', {
  secondFactorRequired: Type.Boolean({
    description:
      'Whether members who sign in with a password must have a second factor; without one they reach only the own account',
  }),
});

export const newPasskeySchema = namedObject('NewPasskey', {
  passkey: passkeySchema,
  recoveryCodes: list(Type.String({ description: 'With the first second factor; else empty' })),
});
