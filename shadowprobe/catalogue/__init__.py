"""The datasets that have a name, and the download of the ShadowLink release."""
