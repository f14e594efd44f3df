// Setting items of the palette: theme, language, times and keys, and the end of the session.
import {
  Clock,
  Keyboard,
  KeyboardOff,
  Languages,
  LogOut,
  type LucideIcon,
  Moon,
  Sun,
  SunMoon,
  Terminal,
} from 'lucide-react';
import { chooseTheme, type ThemeChoice, themeChoice } from '../design/theme.ts';
import { hasSingleKeys, turnSingleKeys } from '../keys/single-keys.ts';
import { toastFailure } from '../parts/toasts.tsx';
import { changePreferences, usePreferences } from '../session/preferences.ts';
import { signOut } from '../session/session.ts';
import { zoneChoices } from '../session/zone-choices.ts';
import { useLanguage, useWords } from '../words/language.tsx';
import { type Language, languageNames } from '../words/word-set.ts';
import type { PaletteItem } from './palette-items.ts';
import { showKeys } from './palette-state.ts';
import { paletteWords } from './palette-words.ts';

const themeIcons: Readonly<Record<ThemeChoice, LucideIcon>> = {
  light: Sun,
  dark: Moon,
  system: SunMoon,
};

export function useSettingItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  return [
    ...useThemeItems(),
    ...useZoneItems(),
    ...useLanguageItems(),
    keysItem(texts),
    { id: 'keys', label: texts.allKeys, note: '?', icon: Keyboard, run: showKeys },
    ...curlItems(texts),
    useSignOutItem(),
  ];
}

function useThemeItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  return (['light', 'dark', 'system'] as const).map((theme) => ({
    id: `theme ${theme}`,
    label: texts.themes[theme],
    icon: themeIcons[theme],
    isCurrent: themeChoice() === theme,
    run: () => chooseTheme(theme),
  }));
}

function useZoneItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  const { zone: current } = usePreferences() ?? {};
  return zoneChoices.map((zone) => ({
    id: `zone ${zone}`,
    label: texts.zones[zone],
    icon: Clock,
    isCurrent: zone === current,
    run: () => changePreferences((before) => ({ ...before, zone })),
  }));
}

function useLanguageItems(): readonly PaletteItem[] {
  const texts = useWords(paletteWords);
  const { language: current, speak } = useLanguage();
  return (Object.keys(languageNames) as Language[]).map((language) => ({
    id: `language ${language}`,
    label: texts.language(languageNames[language]),
    icon: Languages,
    isCurrent: language === current,
    run: () => {
      speak(language);
      changePreferences((before) => ({ ...before, language }));
    },
  }));
}

type Texts = (typeof paletteWords)['en'];

function keysItem(texts: Texts): PaletteItem {
  const isOn = hasSingleKeys();
  return {
    id: 'single keys',
    label: isOn ? texts.keysOff : texts.keysOn,
    icon: isOn ? KeyboardOff : Keyboard,
    run: () => {
      turnSingleKeys(!isOn);
      changePreferences((before) => ({ ...before, singleKeys: !isOn }));
    },
  };
}

/** The button of the page does it, which then says so. */
function curlItems(texts: Texts): readonly PaletteItem[] {
  const button = document.querySelector<HTMLElement>('main [aria-keyshortcuts~="c"]');
  if (button === null) return [];
  return [{ id: 'curl', label: texts.curl, note: 'c', icon: Terminal, run: () => button.click() }];
}

function useSignOutItem(): PaletteItem {
  const texts = useWords(paletteWords);
  return {
    id: 'sign out',
    label: texts.signOut,
    icon: LogOut,
    run: () => void signOut().catch(toastFailure),
  };
}
