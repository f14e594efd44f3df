// Copy buttons: put a string, or the request behind a page, on the clipboard and say so for two seconds.
import { Check, Copy, Terminal } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { partWords } from './part-words.ts';
import { curlOf, type CurlRequest } from '../api/curl.ts';

interface CopyButtonProps {
  readonly content: string;
  /** Only the picture is shown, with this name. */
  readonly label?: string;
  /** Key that does the same, such as `c` for the curl of the page. */
  readonly shortcut?: string;
  readonly children?: ReactNode;
}

export function CopyButton({ content, label, shortcut, children }: CopyButtonProps) {
  const words = useWords(partWords);
  const { isCopied, copy } = useCopy(() => content);
  const picture = isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />;
  if (label !== undefined)
    return (
      <Button
        look="ghost"
        isIcon
        aria-label={isCopied ? words.copied : label}
        aria-keyshortcuts={shortcut}
        onClick={copy}
      >
        {picture}
      </Button>
    );
  return (
    <Button aria-keyshortcuts={shortcut} onClick={copy}>
      {picture}
      <span aria-live="polite">{isCopied ? words.copied : (children ?? words.copy)}</span>
    </Button>
  );
}

// Copying: puts a string on the clipboard, and says so for two seconds.

const saidMs = 2_000;

function useCopy(content: () => string) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(content());
    setCopied(true);
  };
  return { isCopied, copy: () => void copy() };
}

// Curl button: the request behind a page, for a terminal.

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
