// Request card: what the chart asked the platform for, as a program.
import { useState } from 'react';
import type { CurlRequest } from '../../../api/curl.ts';
import { Card } from '../../../parts/card.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { CodeBlock } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { exploreWords } from './explore-words.ts';
import { requestCode, type RequestLanguage, requestLanguages } from './request-code.ts';

export function RequestCard({ request }: { readonly request: CurlRequest }) {
  const words = useWords(exploreWords);
  const [language, setLanguage] = useState<RequestLanguage>('curl');
  const code = requestCode(request, location.origin, language);
  return (
    <Card
      title={words.request}
      isPadded
      actions={
        <>
          <Segments
            label={words.languages}
            options={requestLanguages.map((value) => ({ value, label: value }))}
            value={language}
            choose={setLanguage}
          />
          <CopyButton content={code} />
        </>
      }
    >
      <CodeBlock code={code} />
    </Card>
  );
}
