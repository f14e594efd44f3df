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
    description:
      'False for accounts that sign in with the identity provider, which enforces its own MFA.',
  }),
  authenticatorApp: orNull(Type.Object({ created: time })),
  passkeys: list(passkeySchema),
  recoveryCodes: Type.Integer({ description: 'Number of unused codes.' }),
});

const ticket = Type.String({ description: "Ticket to send back with the browser's response." });
const challenge = Type.String({ description: 'Challenge, base64url-encoded.' });

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
  password: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Current password of the user.',
  }),
});

export const newAppSchema = namedObject('NewAuthenticatorApp', {
  secret: Type.String({
    description: 'Base32 secret for manual entry, returned only in this response.',
  }),
  address: Type.String({ description: '`otpauth://` URI for the QR code.' }),
});

export const appConfirmation = namedObject('AuthenticatorAppConfirmation', {
  code: shown('Six-digit code from the authenticator app.'),
});

export const recoveryCodesSchema = namedObject('RecoveryCodes', {
  recoveryCodes: list(Type.String({ description: 'Single-use recovery code.' })),
});

/** Answer of the first step of a sign-in that needs a second one. */
export const secondStepSchema = namedObject('SecondStep', {
  ticket: Type.String({ description: 'Sign-in ticket, valid for five minutes.' }),
  expires: time,
  secondFactors: list(oneOf(['ONE_TIME_CODE', 'PASSKEY', 'RECOVERY_CODE'])),
  passkeyOptions: orNull(requestOptions),
});

export const secondStepBody = namedObject('SecondStepBody', {
  ticket: Type.String({ maxLength: ticketMax }),
  code: optional(shown('Six-digit code from the authenticator app.')),
  recoveryCode: optional(shown('Recovery code, instead of `code`.')),
  passkey: optional(assertion),
});

export const secondFactorDemandSchema = namedObject('SecondFactorDemand', {
  secondFactorRequired: Type.Boolean({
    description:
      'Whether members who sign in with a password must use MFA. Without it, they can access only their own account.',
  }),
});

export const newPasskeySchema = namedObject('NewPasskey', {
  passkey: passkeySchema,
  recoveryCodes: list(
    Type.String({
      description: 'Recovery codes, returned with the first second factor; otherwise empty.',
    }),
  ),
});
