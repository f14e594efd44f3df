// Recipient phones: the numbers that an SMS connector sends to.
import { isJsonObject, type Json } from '../../../model/json.ts';
import type { PropertyReader } from '../property-parser.ts';

export const recipientsMax = 50;

export type RecipientPhone = {
  /** A country code with its plus sign. */
  readonly prefix: string;
  /** May contain spaces, parentheses, slashes and dashes. */
  readonly phone: string;
};

export type SmsProperties = {
  /** A template. */
  readonly messageText: string;
  readonly recipientPhones: readonly RecipientPhone[];
};

type PhonesReader = PropertyReader<'recipientPhones'>;

export function parseRecipientPhones(sent: PhonesReader): readonly RecipientPhone[] {
  return sent.list('recipientPhones', recipientsMax).map((phone, i) => parsePhone(sent, phone, i));
}

function parsePhone(sent: PhonesReader, value: Json, i: number): RecipientPhone {
  const { prefix, phone } = isJsonObject(value) ? value : {};
  if (typeof prefix !== 'string' || !/^\+?\d{1,4}$/.test(prefix))
    return sent.refuse(`recipientPhones.${i}.prefix`, 'must be a country code such as +41');
  if (typeof phone !== 'string' || !/^[\d\s()/-]{3,20}$/.test(phone))
    return sent.refuse(`recipientPhones.${i}.phone`, 'must be a phone number');
  return { prefix: prefix.replace(/^\+?/, '+'), phone };
}
