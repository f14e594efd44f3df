// Times that have passed: in words, with the exact instant on the element.
import { useNow } from './use-now.ts';
import { useFormats, useWords } from '../words/language.tsx';
import { partWords } from './part-words.ts';

export function Ago({ at }: { readonly at: string | null | undefined }) {
  const words = useWords(partWords);
  const formats = useFormats();
  const now = useNow();
  if (at === null || at === undefined) return <span>{words.never}</span>;
  return (
    <time className="num" dateTime={at} title={formats.instant(at)}>
      {formats.ago(at, now)}
    </time>
  );
}
