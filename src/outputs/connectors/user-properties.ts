// User properties: user name and password at a target.
import { optionalText } from './property-schemas.ts';
import type { PropertyReader } from './property-parser.ts';

/** Both null for a target without users. */
export type UserProperties = { readonly username: string | null; readonly password: string | null };

export const userProperties = {
  username: optionalText('Username. Required with a password.'),
  password: optionalText('Password. Secret.'),
};

export function parseUser(sent: PropertyReader<keyof UserProperties>): UserProperties {
  const user = { username: sent.text('username'), password: sent.text('password') };
  if (user.password !== null && user.username === null)
    sent.refuse('username', 'is required with a password');
  return user;
}
