// Account: the preferences of the signed-in user, which follow to every browser.
import { Card } from '../../parts/card.tsx';
import { useWords } from '../../words/language.tsx';
import { AccountPage } from './account-page.tsx';
import { accountWords } from './account-words.ts';
import { PreferenceRows } from './preference-rows.tsx';

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
