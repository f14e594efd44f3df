// Curl button: the request behind a page, for a terminal.
import { Terminal } from 'lucide-react';
import { useEffect, useState } from 'react';
import { type CurlRequest, curlOf } from '../api/curl.ts';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { partWords } from './part-words.ts';

const saidMs = 2_000;

export function CurlButton({ request }: { readonly request: CurlRequest }) {
  const words = useWords(partWords);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(curlOf(request, location.origin));
    setCopied(true);
  };
  const label = isCopied ? words.copied : words.copyCurl;
  return (
    <Button
      look="ghost"
      isIcon
      aria-label={label}
      aria-keyshortcuts="c"
      title={label}
      onClick={() => void copy()}
    >
      <Terminal aria-hidden="true" />
    </Button>
  );
}
