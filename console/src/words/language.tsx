// Language of the console: chosen in the account, else the first that the browser wants and the console speaks.
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { type Formats, formatsOf, localeOf } from './formats.ts';
import { type Language, languageNames, type WordSet } from './word-set.ts';

const languageKey = 'language';

interface Spoken {
  readonly language: Language;
  readonly formats: Formats;
  readonly speak: (language: Language) => void;
  /** Shows times in the zone; without one in that of the browser. */
  readonly showZone: (zone: string | undefined) => void;
  readonly showPageZone: (zone: string | undefined) => void;
}

const SpokenContext = createContext<Spoken | undefined>(undefined);

export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage);
  const [zone, showZone] = useState<string>();
  const [pageZone, showPageZone] = useState<string>();
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const spoken = useMemo<Spoken>(
    () => ({
      language,
      formats: formatsOf(localeOf(language), pageZone ?? zone),
      showZone,
      showPageZone,
      speak(chosen) {
        localStorage.setItem(languageKey, chosen);
        setLanguage(chosen);
      },
    }),
    [language, zone, pageZone],
  );
  return <SpokenContext value={spoken}>{children}</SpokenContext>;
}

export function useLanguage(): Spoken {
  const spoken = use(SpokenContext);
  if (spoken === undefined) throw new Error('no language around this part');
  return spoken;
}

/** The words of a part in the language shown. */
export function useWords<T>(words: WordSet<T>): WordSet<T>['en'] {
  return words[useLanguage().language];
}

/** Shows all times in the zone while the page is open. */
export function usePageZone(zone: string): void {
  const { showPageZone } = useLanguage();
  useEffect(() => {
    showPageZone(zone);
    return () => showPageZone(undefined);
  }, [zone, showPageZone]);
}

/** The language of the page, for what is said outside of components. */
export function shownLanguage(): Language {
  const { lang } = document.documentElement;
  return isSpoken(lang) ? lang : 'en';
}

export function useFormats(): Formats {
  return useLanguage().formats;
}

function isSpoken(name: string): name is Language {
  return Object.hasOwn(languageNames, name);
}

function firstLanguage(): Language {
  const kept = localStorage.getItem(languageKey) ?? '';
  const wished = [kept, ...navigator.languages].map((one) => one.slice(0, 2));
  return wished.find(isSpoken) ?? 'en';
}
