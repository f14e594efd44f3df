// The data key check of interface 2.3: alphanumeric runs joined by single separators. No colon, unlike topics.
import { isLongName } from '../model/outside-name.ts';
import { isAlphanumeric } from '../model/topic.ts';

/**
 * Whether the text may be a key of `data`, at any depth: `^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$`, in
 * linear time, with at most 500 characters (contract 42).
 */
export function isDataKey(text: string): boolean {
  if (isLongName(text)) return false;
  let afterAlphanumeric = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isAlphanumeric(code)) afterAlphanumeric = true;
    else if (afterAlphanumeric && (code === 46 || code === 95 || code === 45))
      afterAlphanumeric = false;
    else return false;
  }
  return afterAlphanumeric;
}
