// Service account: e-mail address and private key out of the JSON string of its key.
import { isJsonObject } from '../../../model/json.ts';

export interface ServiceAccount {
  readonly email: string;
  readonly keyId: string;
  readonly privateKey: string;
}

/** Undefined when the string is not JSON or a member is missing. */
export function serviceAccount(text: string): ServiceAccount | undefined {
  const key = parsed(text);
  if (!isJsonObject(key)) return undefined;
  const { client_email: email, private_key_id: keyId, private_key: privateKey } = key;
  if (!isText(email) || !isText(keyId) || !isText(privateKey)) return undefined;
  if (!privateKey.includes('-----BEGIN PRIVATE KEY-----')) return undefined;
  return { email, keyId, privateKey };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
