// Curl button: the request behind a page, for a terminal.
import { Check, Terminal } from 'lucide-react';
import { curlOf, type CurlRequest } from '../api/curl.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { useCopy } from './copy-button.tsx';
import { partWords } from './part-words.ts';

export function CurlButton({ request }: { readonly request: CurlRequest }) {
  const words = useWords(partWords);
  const { isCopied, copy } = useCopy(() => curlOf(request, location.origin));
  const label = isCopied ? words.copied : words.copyCurl;
  return (
    <Button
      look="ghost"
      isIcon
      aria-label={label}
      aria-keyshortcuts="c"
      title={label}
      onClick={copy}
    >
      {isCopied ? <Check aria-hidden="true" /> : <Terminal aria-hidden="true" />}
      <span className="sr" aria-live="polite">
        {isCopied && words.copied}
      </span>
    </Button>
  );
}
