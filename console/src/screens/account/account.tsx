// Account: the preferences of the signed-in user, which follow to every browser.
import { useState } from 'react';
import { Card } from '../../ui/card.tsx';
import { Segments } from '../../ui/choice.tsx';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { zoneChoices } from '../../words/zone-times.ts';
import { turnSingleKeys } from '../../ui/keys.ts';
import { chooseTheme, type ThemeChoice, themeChoice } from '../../ui/theme.ts';
import { useLanguage, useWords } from '../../words/language.tsx';
import { type Language, languageNames } from '../../words/word-set.ts';
import { AccountPage } from './account-page.tsx';
import { accountWords } from './account-words.ts';
import styles from './account.module.css';

export function Account() {
  const words = useWords(accountWords);
  return (
    <AccountPage tab="appearance">
      <Card title={words.appearance} isPadded>
        <PreferenceRows />
      </Card>
    </AccountPage>
  );
}

// Preference rows of the account: theme, language, times and keys, which follow the user.

const themes: readonly ThemeChoice[] = ['system', 'light', 'dark'];
const languages = Object.keys(languageNames) as Language[];

function PreferenceRows() {
  return (
    <div className={styles['rows']}>
      <ThemeRow />
      <LanguageRow />
      <ZoneRow />
      <KeysRow />
    </div>
  );
}

function ThemeRow() {
  const words = useWords(accountWords);
  const [theme, setTheme] = useState(themeChoice);
  return (
    <>
      <span>{words.theme}</span>
      <Segments
        label={words.theme}
        value={theme}
        options={themes.map((value) => ({ value, label: words.themes[value] }))}
        choose={(choice) => {
          chooseTheme(choice);
          setTheme(choice);
        }}
      />
    </>
  );
}

function LanguageRow() {
  const words = useWords(accountWords);
  const { language, speak } = useLanguage();
  return (
    <>
      <span>{words.language}</span>
      <Segments
        label={words.language}
        value={language}
        options={languages.map((value) => ({ value, label: languageNames[value] }))}
        choose={(chosen) => {
          speak(chosen);
          changePreferences((before) => ({ ...before, language: chosen }));
        }}
      />
    </>
  );
}

function ZoneRow() {
  const words = useWords(accountWords);
  const { zone = 'device' } = usePreferences() ?? {};
  return (
    <>
      <span>{words.times}</span>
      <div>
        <Segments
          label={words.times}
          value={zone}
          options={zoneChoices.map((value) => ({
            value,
            label: words.zones[value],
          }))}
          choose={(chosen) => changePreferences((before) => ({ ...before, zone: chosen }))}
        />
        <p className={styles['note']}>{words.zoneNotes[zone]}</p>
      </div>
    </>
  );
}

function KeysRow() {
  const words = useWords(accountWords);
  const isOn = usePreferences()?.singleKeys !== false;
  return (
    <>
      <span>{words.keys}</span>
      <div>
        <Segments
          label={words.keys}
          value={isOn ? 'on' : 'off'}
          options={[
            { value: 'on', label: words.keysOn },
            { value: 'off', label: words.keysOff },
          ]}
          choose={(chosen) => {
            turnSingleKeys(chosen === 'on');
            changePreferences((before) => ({ ...before, singleKeys: chosen === 'on' }));
          }}
        />
        <p className={styles['note']}>{words.keysNote}</p>
      </div>
    </>
  );
}
