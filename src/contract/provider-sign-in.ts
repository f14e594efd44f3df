// API schemas of sign-in by the OpenID Connect provider of the installation.
import Type from 'typebox';
import { namedObject } from './named.ts';

const textMax = 4_096;

export const startQuery = Type.Object({
  to: Type.Optional(
    Type.String({
      maxLength: textMax,
      description: 'Path of the console to continue at after the sign-in.',
    }),
  ),
});

/** What providers add to the address differs, so that nothing here may be refused by its shape. */
export const callbackQuery = Type.Object({
  code: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  iss: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  error_description: Type.Optional(Type.String()),
});

export const logoutTokenForm = Type.Object({ logout_token: Type.String() });

export const endSessionSchema = namedObject('SignedOut', {
  endSessionUrl: Type.String({
    description: 'URL to open in the browser to sign out of the identity provider.',
  }),
});
