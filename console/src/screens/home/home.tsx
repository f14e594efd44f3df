// Home: what is true now in a sentence, the figures, what arrives, and what needs attention.
import { Page } from '../../parts/page.tsx';

export function Home() {
  return <Page title="Home" name="Home" path={['Home']} />;
}
