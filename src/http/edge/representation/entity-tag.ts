// Entity tags: the same JSON has the same tag, so that a client asks for it without reading it again.
import { hash } from 'node:crypto';

/** Weak, because the same JSON is also sent compressed. */
export function entityTagOf(json: string): string {
  return `W/"${hash('sha256', json, 'base64url').slice(0, 27)}"`;
}

/** Whether `If-None-Match` names the tag; `*` means every tag. */
export function namesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  const opaque = withoutWeakness(tag);
  return header
    .split(',')
    .map((one) => one.trim())
    .some((one) => one === '*' || withoutWeakness(one) === opaque);
}

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
