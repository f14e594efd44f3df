// Copying: puts a string on the clipboard, and says so for two seconds.
import { useEffect, useState } from 'react';

const saidMs = 2_000;

export function useCopy(content: () => string) {
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
