package telegramsim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// faintTexts lists visible texts whose contrast with what is behind them is
// below 4.5 to 1 (WCAG 2.1 level AA), as "ratio text class". A canvas turns any
// CSS colour into bytes.
const faintTexts = `(() => {
	const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
	const bytes = (color, under) => {
		pen.fillStyle = under;
		pen.fillRect(0, 0, 1, 1);
		pen.fillStyle = color;
		pen.fillRect(0, 0, 1, 1);
		return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
	};
	const css = (rgb) => "rgb(" + rgb.join(" ") + ")";
	const behind = (node) => {
		if (!node) return [255, 255, 255];
		return bytes(getComputedStyle(node).backgroundColor, css(behind(node.parentElement)));
	};
	const light = (rgb) => {
		const [r, g, b] = rgb.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const faint = [];
	for (const node of document.querySelectorAll("body *")) {
		const own = [...node.childNodes].some((each) => each.nodeType === 3 && each.textContent.trim());
		if (!own || !node.checkVisibility() || node.closest("option, [disabled], .hidden")) continue;
		const ground = behind(node);
		const [a, b] = [light(ground), light(bytes(getComputedStyle(node).color, css(ground)))];
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) faint.push(ratio.toFixed(2) + " " + node.textContent.trim().slice(0, 30) + " " + node.className);
	}
	return faint;
})()`

func pageKeepsTextReadable(t *testing.T, browser context.Context) {
	p := visit(t, browser, furnish(t), 1440, 900)
	p.enliven()
	for _, name := range []string{"light", "dark"} {
		p.scheme(name)
		require.Empty(t, eval[[]string](p, faintTexts), name)
		p.click(`[data-chat="-20417733"]`)
		p.waitText("#talk-title", "book club")
		p.waitText(".message .name", "Priya")
		require.Empty(t, eval[[]string](p, faintTexts), name+", a group")
	}
}
