// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// Pays as x402's proxies for Permit2 do: the token's Transfer, then a log without arguments. The owner's word is the
/// allowance that it gave to this contract; a nonce pays once.
contract Permit2Proxy {
    event Settled();
    event SettledWithPermit();

    error InvalidAmount();
    error InvalidNonce();

    mapping(address owner => mapping(uint256 nonce => bool)) public used;

    function settle(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) external {
        _pay(token, owner, to, amount, nonce);
        emit Settled();
    }

    function settleWithPermit(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) external {
        _pay(token, owner, to, amount, nonce);
        emit SettledWithPermit();
    }

    function _pay(IERC20 token, address owner, address to, uint256 amount, uint256 nonce) internal {
        require(amount > 0, InvalidAmount());
        require(!used[owner][nonce], InvalidNonce());
        used[owner][nonce] = true;
        token.transferFrom(owner, to, amount);
    }
}

/// The same for a price that is known afterwards: the owner's word is the most, and who may settle; what was used is paid.
contract UptoPermit2Proxy is Permit2Proxy {
    error AmountExceedsPermitted();
    error UnauthorizedFacilitator();

    function settle(
        IERC20 token,
        uint256 most,
        address owner,
        address to,
        uint256 amount,
        address facilitator,
        uint256 nonce
    ) external {
        require(msg.sender == facilitator, UnauthorizedFacilitator());
        require(amount <= most, AmountExceedsPermitted());
        _pay(token, owner, to, amount, nonce);
        emit Settled();
    }
}
